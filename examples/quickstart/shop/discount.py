"""Discounts."""


def discounted(cents: int, percent: int) -> int:
    return cents - cents * percent // 100
