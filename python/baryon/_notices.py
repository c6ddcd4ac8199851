"""Notices, which go to the logger "baryon"."""


def notice(text, *values):
    import logging

    logging.getLogger("baryon").warning(text, *values)
