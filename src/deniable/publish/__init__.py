"""What people read: the statement, the terminal's table and the offline page.

Plain facts in (`facts`), text and HTML out. Nothing here reads data, adds noise or decides a privacy
parameter: it words what was decided elsewhere, and rounds every number against ourselves.
"""
