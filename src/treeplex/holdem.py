"""Texas hold'em: what a poker player imports. The rooms behind it are ``treeplex.poker`` and below."""

from treeplex.poker import *  # noqa: F403
from treeplex.poker import __all__  # noqa: F401
