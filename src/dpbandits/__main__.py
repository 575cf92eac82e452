"""`python -m dpbandits <verb> ...` is the command `dpbandits <verb> ...`."""

from dpbandits.cli.main import main

if __name__ == "__main__":
    main()
