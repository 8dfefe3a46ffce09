"""The contract of runtimes: one suite, run over every runtime that there is (``RUNTIMES`` in conftest).

Design section 4 has the table of semantics; each file here takes a few of its rows. Graphs come with capture.
"""
