"""python -P -m bot: the command, where no script is installed."""

from bot.cli import main

main()
