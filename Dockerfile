# The application: api, worker, caretaker and the simulator, one image, one process each.
FROM python:3.13-slim

# psycopg's binary wheel brings its own libpq; nothing else is needed from the system.
RUN useradd --system --create-home roomkey
WORKDIR /app

COPY requirements/run.txt requirements/run.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/run.txt

COPY . .
# The path file instead of an install: building the package would need another tool in the image.
RUN python -c "import pathlib, site; pathlib.Path(site.getsitepackages()[0], 'roomkey.pth').write_text('/app\n')" \
 && printf '#!/bin/sh\nexec python -m cli.main "$@"\n' > /usr/local/bin/roomkey && chmod +x /usr/local/bin/roomkey

USER roomkey
EXPOSE 8080
ENTRYPOINT ["roomkey"]
CMD ["--help"]
