#!/usr/bin/env python3
"""Writes a list of what Baryon consists of and links, as SPDX 2.3 in JSON; the same bytes for the same input.

    scripts/sbom.py VERSION LIBRARY OUT [--bundled]

LIBRARY is libbaryon.so, whose own libraries are listed. --bundled: they are part of what is distributed, else the system
brings them. The time in it is $SOURCE_DATE_EPOCH, else that of the last commit. wheel.py uses it for libraries that are
linked in as well.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import parts

ROOT = Path(__file__).resolve().parents[1]
PURL = "pkg:deb/debian/"


def epoch():
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(done.stdout or 0)


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, licence, **more):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}  # fmt: skip


def from_debian(locator):
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": PURL + locator}]}  # fmt: skip


def digest_of(digest):
    return {"checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}


def installed_version(name):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else "NOASSERTION"


def linked(name, path):
    """One of the libraries that are linked: by the name of its Debian package where there is one."""
    found = parts.licence(path)
    known = found[0] if found else name
    version = installed_version(known)
    more = {**digest_of(hashlib.sha256(Path(path).read_bytes()).hexdigest()), "packageFileName": name}
    return package(known, version, parts.licence_name(name), **more, **(from_debian(f"{known}@{version}") if found else {}))


def needed(library):
    """The libraries that a library asks for."""
    return [linked(name, path) for name, path in sorted(parts.needed(library))]


def built(libraries):
    """The libraries that scripts/libraries.sh built out of Debian's sources: checksums are those of the archives."""
    sources = parts.sources(libraries)
    rows = []
    for name in parts.texts(libraries):
        archive, digest, source = sources.get(name, (None, None, None))
        version = re.match(r".*_(.*)\.orig\.", archive)[1] if archive else "NOASSERTION"
        more = {**digest_of(digest), "packageFileName": archive, **from_debian(f"{source}@{version}?arch=source")} if archive else {}
        rows.append(package(name, version, parts.licence_name(name), **more))
    return rows


def text(version, others, kind):
    """The list as text: Baryon, and the rows that it has to do with as `kind` says (SPDX)."""
    main = package("baryon", version, "MIT", supplier="Organization: The Baryon authors", primaryPackagePurpose="APPLICATION")
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", main["SPDXID"]), *((main["SPDXID"], kind, row["SPDXID"]) for row in others)]
    body = json.dumps([main, others, relations])
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"baryon-{version}",
        "documentNamespace": f"urn:baryon:{version}:{hashlib.sha256(body.encode()).hexdigest()}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: The Baryon authors", "Tool: scripts/sbom.py"],
        },
        "packages": [main, *others],
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("version", "library", "out"):
        parser.add_argument(name)
    parser.add_argument("--bundled", action="store_true")
    words = parser.parse_args()
    kind = "CONTAINS" if words.bundled else "DYNAMIC_LINK"
    Path(words.out).write_text(text(words.version, needed(words.library), kind), "utf-8")


if __name__ == "__main__":
    main()
