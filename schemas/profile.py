"""A behavioural profile: how a bank forms opinions and in which voice it answers."""

from collections.abc import Mapping

import msgspec

from schemas.errors import InvalidInput
from schemas.limits import check_number, shown

LOWEST, MIDDLE, HIGHEST = 1, 3, 5
TRAITS = ("skepticism", "literalism", "empathy")


class Profile(msgspec.Struct, frozen=True, omit_defaults=True):
    """Three traits from 1 to 5, 3 being neutral, and how much of what speaks against an opinion is discounted, 0 to 1.

    The default is neutral: opinions move by the plain steps (design 3.9).
    """

    skepticism: int = MIDDLE
    literalism: int = MIDDLE
    empathy: int = MIDDLE
    bias_strength: float = 0.0


NEUTRAL = Profile()


class Persona(msgspec.Struct, frozen=True):
    """A bank's profile with its background: what it holds of itself, newest first."""

    profile: Profile
    background: tuple[str, ...] = ()


def check_profile(profile: Profile, field: str = "profile") -> Profile:
    """Accept a profile within its ranges. Raises InvalidInput naming the first trait that is not."""
    for trait in TRAITS:
        value = getattr(profile, trait)
        check_number(value, f"{field}.{trait}", LOWEST, HIGHEST)
        if not isinstance(value, int):
            raise InvalidInput(f"{field}.{trait}", f"is {shown(value)}; use a whole number from {LOWEST} to {HIGHEST}")
    check_number(profile.bias_strength, f"{field}.bias_strength", 0.0, 1.0)
    return profile


def profile_with(profile: Profile, traits: Mapping[str, object]) -> Profile:
    """The profile with some traits changed; those that are None stay. Raises InvalidInput for what is none."""
    known = Profile.__struct_fields__
    for name in traits:
        if name not in known:
            raise InvalidInput(f"profile.{name:.80}", f"is not a trait; use {', '.join(known)}")
    given = {name: value for name, value in traits.items() if value is not None}
    changed = check_profile(msgspec.structs.replace(profile, **given))
    return msgspec.structs.replace(changed, bias_strength=float(changed.bias_strength))
