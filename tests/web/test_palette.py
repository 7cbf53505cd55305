"""Colours of actions can be told apart, also by those who see fewer of them."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import treeplex

PALETTE = (Path(treeplex.__file__).parent / "web" / "static" / "palette.js").read_text(encoding="utf-8")
APART = 18.0  # CIE76; 2.3 is just seen

SIGHT = {  # Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB
    "all colours": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def _colours() -> list[str]:
    lines = [line for line in PALETTE.splitlines() if re.match(r"export const (FOLD|PASSIVE|BETS) ", line)]
    return re.findall(r"#[0-9a-f]{6}", "\n".join(lines))


def _linear(colour: str) -> np.ndarray:
    part = np.array([int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    x, y, z = (np.cbrt(t) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
def test_every_two_actions_are_apart(sight: str) -> None:
    colours = _colours()
    assert len(colours) == 7
    seen = [_lab(np.clip(SIGHT[sight] @ _linear(colour), 0.0, 1.0)) for colour in colours]
    assert min(np.linalg.norm(one - two) for one, two in itertools.combinations(seen, 2)) > APART
