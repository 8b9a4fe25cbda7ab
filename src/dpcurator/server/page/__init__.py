"""The page of the server: the same questions in a browser, for people who write no programs.

Everything it shows is a reply of the server's own addresses to the account that is signed in (`inside.py`): the page
has no other way to the curator or the ledger, so it can show nobody more than `server/application.py` sends. What it
adds is a session in a cookie (`sessions.py`), forms that no other site can send (`visitor.py`), and HTML, of which
every text is escaped. It loads nothing from elsewhere, and runs no script but its own.
"""
