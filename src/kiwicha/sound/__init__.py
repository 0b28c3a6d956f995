"""Sound: recordings, the frontend that makes features of them, and wake words in those."""
