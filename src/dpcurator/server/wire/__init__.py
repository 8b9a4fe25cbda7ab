"""Questions from PostgreSQL's own clients: psql, psycopg, pandas, SQLAlchemy, BI tools (PostgreSQL's protocol 3.0)."""
