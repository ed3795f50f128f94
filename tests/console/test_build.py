"""Building: only when something changed, and for any origin."""

import gzip

import pytest

from backend import console


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / "rxconfig.py").write_text("a")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "app.py").write_text("a")
    for name, value in {"CHECKOUT": tmp_path, "WEB": tmp_path / ".web", "DIGEST": tmp_path / ".web" / "digest"}.items():
        monkeypatch.setattr(console, name, value)
    monkeypatch.setattr(console, "BUILD", tmp_path / ".web" / "build" / "client")
    return tmp_path


@pytest.fixture
def builds(checkout, monkeypatch):
    made = []

    def export():
        (console.BUILD / "assets").mkdir(parents=True, exist_ok=True)
        made.append(1)

    monkeypatch.setattr(console, "_export", export)
    return made


def test_what_did_not_change_is_not_built_again(builds):
    assert console.build_if_changed() is True
    assert console.build_if_changed() is False
    assert len(builds) == 1


def test_a_changed_a_new_and_a_renamed_source_are_built(checkout, builds):
    console.build_if_changed()
    (checkout / "app" / "app.py").write_text("b")
    assert console.build_if_changed() is True
    (checkout / "app" / "page.py").write_text("")
    assert console.build_if_changed() is True
    (checkout / "app" / "page.py").rename(checkout / "app" / "other.py")
    assert console.build_if_changed() is True


def test_a_source_that_changes_during_the_build_is_built_at_the_next_start(checkout, builds, monkeypatch):
    export = console._export

    def slowly():
        export()
        (checkout / "reflex.lock").mkdir(exist_ok=True)
        (checkout / "reflex.lock" / "bun.lock").write_text("written by the build itself")
        (checkout / "app" / "app.py").write_text(f"{len(builds)}" if len(builds) == 1 else "1")

    monkeypatch.setattr(console, "_export", slowly)
    assert console.build_if_changed() is True
    assert console.build_if_changed() is True
    assert console.build_if_changed() is False


def test_what_the_interpreter_leaves_behind_does_not_count(checkout, builds):
    console.build_if_changed()
    (checkout / "app" / "__pycache__").mkdir()
    (checkout / "app" / "__pycache__" / "app.pyc").write_text("x")
    assert console.build_if_changed() is False


def test_a_build_that_fails_is_tried_again(checkout, builds, monkeypatch):
    console.build_if_changed()

    def export():
        raise console.ConsoleBuildFailed("no")

    (checkout / "rxconfig.py").write_text("b")
    monkeypatch.setattr(console, "_export", export)
    for _ in range(2):
        with pytest.raises(console.ConsoleBuildFailed):
            console.build_if_changed()


def test_the_bundle_speaks_to_the_origin_it_came_from(checkout):
    chunk = console.BUILD / "assets" / "reflex-env-1a.js"
    chunk.parent.mkdir(parents=True)
    chunk.write_text('var e={PING:`http://localhost:8000/ping`,EVENT:"ws://localhost:8000/_event"}')
    chunk.with_suffix(".js.gz").write_bytes(b"stale")
    console._follow_the_page()
    text = chunk.read_text()
    assert "8000" not in text
    assert "`${location.origin}/ping`" in text
    assert "`${location.origin.replace(/^http/,'ws')}/_event`" in text
    assert gzip.decompress(chunk.with_suffix(".js.gz").read_bytes()).decode() == text
