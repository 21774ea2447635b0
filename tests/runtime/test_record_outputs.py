"""What counts of a cell's output, and what differs between any two runs."""

from __future__ import annotations

import time

import pytest

from jupyter_clusterbridge.runtime.outputs import normalise, output_digest


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("<Net object at 0x7f01a2b3c4d5>", "<Net object at 0x55d0c0ffee00>"),
        ("CPU times: user 3 ms, sys: 0 ns, total: 3 ms\nWall time: 1.2 s", "Wall time: 980 ms"),
        ("1.23 ms ± 4.5 µs per loop (mean ± std. dev. of 7 runs, 1,000 loops each)", ""),
        ("100%|██████████| 22/22 [00:01<00:00, 13.2it/s]", "100%|██████████| 22/22 [00:09<00:00,  2.2it/s]"),
        ("\r  0%|          | 0/3\r 33%|███▎ | 1/3 [00:00<00:00]\r100%|█████| 3/3 [00:01<00:00]\n", ""),
        ("12it [00:03,  3.9it/s]", "12it [00:01,  9.9it/s]"),
        ("Epoch 1: 57%|█████▋    | 4/7", ""),
        (" 3/22 [==>...........................] - ETA: 2s", ""),
        ("   ━━━━━━━━━━━━━━━━━━━━━━━━ 1.2/1.2 MB 3.4 MB/s eta 0:00:00", ""),
        ("epoch 0 took 3.21s", "epoch 0 took 12s"),
        ("done in 0.8 seconds", "done in 14.25 seconds"),
        ("elapsed: 12.75", "elapsed: 3.5"),
        ("training time 3.4", "training time 4.25"),
        ("time: 1min 3s", "time: 59.2 s"),
        ("took 0:00:12.345678", "took 0:01:02.000001"),
        ("2026-11-30 17:24:45,477 start", "2027-01-02 03:04:05,001 start"),
        ("2026-11-30T17:24:45.477650+00:00", "2027-01-02T03:04:05Z"),
        ("Mon Nov 30 17:15:01 2026", "Tue Jan  5 07:15:59 2027"),
        ("saved run 20261130_172445", "saved run 20270105_010203"),
        ("it is 17:24", "it is 09:01"),
        ("throughput 1,234.5 samples/s", "throughput 77 samples/s"),
        ("5.2 MB/s", "17 MB/s"),
        ("saved to /home/ada/project/out/model.pt", "saved to /srv/run/work/out/model.pt"),
        ("run 123e4567-e89b-12d3-a456-426614174000", "run 00000000-0000-0000-0000-000000000000"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("pid 4242", "pid 17"),
        ("a\n\n\nb   ", "a\nb"),
        ("first\rlast", "last"),
    ],
)
def test_what_differs_between_two_runs_of_one_model_is_taken_out(one: str, two: str) -> None:
    assert normalise(one) == normalise(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("accuracy 0.9722", "accuracy 0.9721"),
        ("loss 1.2e-05", "loss 1.3e-05"),
        ("epoch 1 took 3.2 s, loss 0.25", "epoch 1 took 3.2 s, loss 0.26"),
        ("tensor([1., 2.])", "tensor([1., 3.])"),
        ("shape (60000, 28, 28)", "shape (60000, 28, 29)"),
        ("precision 12%", "precision 13%"),
        ("3 of 4", "3 of 5"),
        ("score 10/12", "score 11/12"),
        ("classes 5 species", "classes 6 species"),
        ("5 m", "6 m"),
        ("   a  b\n0  1  2", "   a  b\n0  1  3"),
        ("wrote model-1.pt", "wrote model-2.pt"),
        ("/data/a.csv", "/data/b.csv"),
        ("step 1200: 0.5", "step 1201: 0.5"),
        ("[0.1, 0.2]", "[0.2, 0.1]"),
        ("hash deadbeef", "hash deadbeee"),
        ("x = 0x1f", "x = 0x2f"),
        ("1.0.0", "1.0.1"),
    ],
)
def test_what_a_model_says_stays(one: str, two: str) -> None:
    assert normalise(one) != normalise(two)


def _stream(text: object, name: str = "stdout") -> dict[str, object]:
    return {"output_type": "stream", "name": name, "text": text}


def _result(**data: object) -> dict[str, object]:
    return {"output_type": "execute_result", "data": {key.replace("_", "/"): value for key, value in data.items()}}


def test_how_a_stream_was_cut_into_pieces_does_not_count() -> None:
    assert output_digest([_stream("a\nb")]) == output_digest([_stream(["a", "\n"]), _stream("b\n")])


def test_standard_error_between_two_pieces_does_not_count() -> None:
    split = [_stream("a"), _stream("warning: /home/me/x.py:3\n", "stderr"), _stream("b")]
    assert output_digest(split) == output_digest([_stream("ab")])


def test_images_widgets_and_their_stand_in_texts_do_not_count() -> None:
    image = _result(image_png="iVBOR", text_plain="<Figure size 640x480 with 1 Axes>")
    widget = {
        "output_type": "display_data",
        "data": {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "0%"},
    }
    assert output_digest([image, widget]) == output_digest([])


def test_the_text_of_a_result_and_the_class_of_an_error_count() -> None:
    assert output_digest([_result(text_plain="1")]) != output_digest([_result(text_plain="2")])
    one = {"output_type": "error", "ename": "ValueError", "evalue": "a", "traceback": ["x"]}
    two = {"output_type": "error", "ename": "ValueError", "evalue": "b", "traceback": ["y"]}
    assert output_digest([one]) == output_digest([two]) != output_digest([])


def test_no_output_and_an_output_of_bars_alone_are_equal() -> None:
    assert output_digest([]) == output_digest([_stream("100%|██████████| 22/22 [00:01<00:00]\n")])


@pytest.mark.parametrize("text", ["1" * 4_000, "1," * 2_000, "12/" * 1_300, "1e5" * 1_300, "a1 " * 1_000_000])
def test_a_long_line_takes_no_time_of_its_own(text):
    began = time.process_time()
    assert normalise(text) == (text.strip(),)
    # with a search that starts over at every digit it was minutes
    assert time.process_time() - began < 5
