"""Text for people: what others wrote made harmless, numbers as they are said."""


def clean(text: str) -> str:
    """The text with everything invisible escaped: control codes, direction marks and the like.

    Bots choose their names and notes, and a file may come from anybody: printed raw they could rule the terminal.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 hand`, `2,000 hands`, `3 matches`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(words: list[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
