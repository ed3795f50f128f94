"""The build runs only after a change, and serves any origin."""

import gzip

import pytest

from backend.server import console_build


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / "rxconfig.py").write_text("a")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "app.py").write_text("a")
    for name, value in {"ROOT": tmp_path, "WEB": tmp_path / ".web", "DIGEST": tmp_path / ".web" / "digest"}.items():
        monkeypatch.setattr(console_build, name, value)
    monkeypatch.setattr(console_build, "CONSOLE", tmp_path / ".web" / "build" / "client")
    return tmp_path


@pytest.fixture
def builds(checkout, monkeypatch):
    made = []

    def export():
        (console_build.CONSOLE / "assets").mkdir(parents=True, exist_ok=True)
        made.append(1)

    monkeypatch.setattr(console_build, "_export", export)
    return made


def test_unchanged_console_is_not_rebuilt(builds):
    assert console_build.build_if_changed() is True
    assert console_build.build_if_changed() is False
    assert len(builds) == 1


def test_changed_new_or_renamed_source_is_rebuilt(checkout, builds):
    console_build.build_if_changed()
    (checkout / "app" / "app.py").write_text("b")
    assert console_build.build_if_changed() is True
    (checkout / "app" / "page.py").write_text("")
    assert console_build.build_if_changed() is True
    (checkout / "app" / "page.py").rename(checkout / "app" / "other.py")
    assert console_build.build_if_changed() is True


def test_source_changed_during_the_build_is_built_at_the_next_start(checkout, builds, monkeypatch):
    export = console_build._export

    def slowly():
        export()
        (checkout / "reflex.lock").mkdir(exist_ok=True)
        (checkout / "reflex.lock" / "bun.lock").write_text("written by the build itself")
        (checkout / "app" / "app.py").write_text(f"{len(builds)}" if len(builds) == 1 else "1")

    monkeypatch.setattr(console_build, "_export", slowly)
    assert console_build.build_if_changed() is True
    assert console_build.build_if_changed() is True
    assert console_build.build_if_changed() is False


def test_bytecode_files_do_not_trigger_a_build(checkout, builds):
    console_build.build_if_changed()
    (checkout / "app" / "__pycache__").mkdir()
    (checkout / "app" / "__pycache__" / "app.pyc").write_text("x")
    assert console_build.build_if_changed() is False


def test_failed_build_is_retried(checkout, builds, monkeypatch):
    console_build.build_if_changed()

    def export():
        raise console_build.ConsoleBuildFailed("no")

    (checkout / "rxconfig.py").write_text("b")
    monkeypatch.setattr(console_build, "_export", export)
    for _ in range(2):
        with pytest.raises(console_build.ConsoleBuildFailed):
            console_build.build_if_changed()


def test_bundle_connects_to_its_own_origin(checkout):
    chunk = console_build.CONSOLE / "assets" / "reflex-env-1a.js"
    chunk.parent.mkdir(parents=True)
    chunk.write_text('var e={PING:`http://localhost:8000/ping`,EVENT:"ws://localhost:8000/_event"}')
    chunk.with_suffix(".js.gz").write_bytes(b"stale")
    console_build._follow_the_page()
    text = chunk.read_text()
    assert "8000" not in text
    assert "`${location.origin}/ping`" in text
    assert "`${location.origin.replace(/^http/,'ws')}/_event`" in text
    assert gzip.decompress(chunk.with_suffix(".js.gz").read_bytes()).decode() == text


def test_bundle_keeps_the_port_of_an_https_page_on_localhost(checkout):
    chunk = console_build.CONSOLE / "assets" / "createLucideIcon-1a.js"
    chunk.parent.mkdir(parents=True)
    chunk.write_text("SAME_DOMAIN_HOSTNAMES=[`localhost`,`::`],x=1")
    console_build._follow_the_page()
    assert chunk.read_text() == "SAME_DOMAIN_HOSTNAMES=[],x=1"


def test_build_forgets_when_and_where_earlier_ones_ran(checkout, builds):
    console_build.build_if_changed()
    first = (console_build.WEB / "reflex.json").read_bytes()
    (console_build.WEB / "reflex.json").write_text('{"project_hash": 7, "last_reflex_run_datetime": "2026-01-01"}')
    (checkout / "rxconfig.py").write_text("b")
    console_build.build_if_changed()
    assert (console_build.WEB / "reflex.json").read_bytes() == first


def test_current_console_is_served_from_a_folder_that_cannot_be_written(checkout, builds):
    console_build.build_if_changed()
    (console_build.WEB / "signum.lock").unlink()
    assert console_build.build_if_changed() is False
    assert not (console_build.WEB / "signum.lock").exists()


def test_build_in_a_folder_that_cannot_be_written_names_the_folder(checkout, builds, monkeypatch):
    (checkout / "file").touch()
    monkeypatch.setattr(console_build, "WEB", checkout / "file" / ".web")
    with pytest.raises(console_build.ConsoleBuildFailed, match="file/\\.web cannot be written"):
        console_build.build_if_changed()
