"""Solutions of the exercises: ``answer`` passes, each of ``wrong`` fails with a diagnosis of its own.

``wrong`` maps what an answer takes for granted to the answer and a part of the diagnosis that it gets.
"""
