"""JSON from users: one meaning, and nothing that a table cannot hold."""

import json
import re
from typing import Any

_HALF_CHARACTER = re.compile(r"\\[uU][dD][89a-fA-F]")  # an escape of a surrogate, alone or in a pair


def parse_json(content: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raise ValueError with the reason, in one line, if it is damaged, if brackets are inside brackets without
    end, if an object has a key twice, if a number has too many digits, or if a character is half of one.
    """
    text = content.decode(json.detect_encoding(content)) if isinstance(content, bytes) else content
    try:
        value = json.loads(text, object_pairs_hook=_object)
        if _HALF_CHARACTER.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("there are brackets inside brackets without end") from None
    except UnicodeEncodeError:
        raise ValueError("a character is only half of one") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        if "int_max_str_digits" in str(error):
            raise ValueError("a number has too many digits") from None
        raise
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has the key {next(n for n in names if names.count(n) > 1)!r} twice")
    return found
