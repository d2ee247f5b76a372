"""Postgres, the one truth: tables, migrations, admit, begin, settle. The only SQL, the only commits."""
