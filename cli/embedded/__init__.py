"""Real PostgreSQL and Valkey servers that live and die with the process that starts them."""
