"""A shopping cart."""

from dataclasses import dataclass, field

from shop.discount import discounted


@dataclass
class Cart:
    lines: list[tuple[str, int, int]] = field(default_factory=list)  # name, price in cents, count

    def add(self, name: str, cents: int, count: int = 1) -> None:
        self.lines.append((name, cents, count))

    def total(self, percent: int = 0) -> int:
        return discounted(sum(cents * count for _, cents, count in self.lines), percent)
