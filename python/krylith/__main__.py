"""python -m krylith devices | config"""

from __future__ import annotations

import sys

import krylith


def main(arguments: list[str]) -> int:
    if arguments == ["devices"]:
        print("\n".join(krylith.devices()))
    elif arguments == ["config"]:
        for key, value in krylith.show_config().items():
            print(f"{key:16}{', '.join(value) if isinstance(value, list) else value}")
    else:
        print("usage: python -m krylith devices | config", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
