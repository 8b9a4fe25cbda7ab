"""The curator: the flow from a question to an answer, and how it is opened."""
