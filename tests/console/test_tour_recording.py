"""The recording of the guided tour: few frames of each step, in one small animated picture."""

import io
from pathlib import Path

from PIL import Image

from tests.screenshots.tour import SHOWN, Frame, chosen, write


def frame(step: str, color: str) -> Frame:
    """A frame of one color."""
    png = io.BytesIO()
    Image.new("RGB", (1280, 800), color).save(png, "png")
    return Frame(step, png.getvalue(), (640, 400))


def test_first_and_last_frames_of_a_step_are_shown() -> None:
    frames = [Frame("Step 1 of 2", bytes([n])) for n in range(5)] + [Frame("Step 2 of 2", b"x")]
    assert [one.png for one in chosen(frames)] == [b"\0", b"\3", b"\4", b"x"]


def test_recording_is_animated_and_repeats(tmp_path: Path) -> None:
    path = tmp_path / "pictures" / "tour.webp"
    write([frame("1", "white"), frame("2", "navy"), frame("3", "black")], path)
    with Image.open(path) as found:
        assert (found.n_frames, found.width, found.info["loop"]) == (3, SHOWN, 0)
