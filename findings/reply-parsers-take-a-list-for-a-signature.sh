#!/usr/bin/env bash
# Guess: a library that takes the quoted mail and the signature off a reply leaves the words that the sender wrote.
# What happens: a line that begins with a hyphen begins a signature, and a signature reaches to the end of the reply. So a list,
# the part of the mail that says what the sender wants, is cut off with all that follows it, and a model that sorts
# mail by the rest reads a greeting. The older library needs a letter or digit right after the hyphen (an amount such as
# "-80 EUR" has one); its successor, which names the older one's shortcomings, cuts "- item" out of `body` too. Both leave
# "* item". The successor has a switch, `keep_hyphen_lists`, which its `EmailReplyParser` does not take.
# Source: PyPI mail-parser-reply 1.36 (constants.py, DEFAULT_SIGNATURE_REGEX), email-reply-parser 0.5.12 (SIG_REGEX), both the
# newest; seen 2026-11-30.
# Output seen, of the 19 words of a reply:
#   - cancel  email-reply-parser 19 words  mail-parser-reply  5 words
#   -cancel   email-reply-parser  5 words  mail-parser-reply  5 words
#   * cancel  email-reply-parser 19 words  mail-parser-reply 19 words
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv env
env/bin/pip install --quiet --no-compile --disable-pip-version-check mail-parser-reply==1.36 email-reply-parser==0.5.12
cat > run.py <<'PY'
import re
from email_reply_parser import EmailReplyParser as Older
from mailparser_reply import EmailReplyParser as Successor

mail = """Hi, please do two things:

{0}cancel order 12
{0}refund order 13

All other orders can stay as they are.

On Tue, 3 Nov 2026 at 10:00, Shop <shop@example.com> wrote:
> Which orders?
"""

def count(text):
    """How many words are left."""
    return len(re.findall(r"\w+", text))

seen = []
for mark in ("- ", "-", "* "):
    older = count(Older.parse_reply(mail.format(mark)))
    successor = count(Successor(languages=["en"]).read(mail.format(mark)).replies[0].body)
    print(f"{mark + 'cancel':8}  email-reply-parser {older:2} words  mail-parser-reply {successor:2} words")
    seen.append((older, successor))
raise SystemExit(seen != [(19, 5), (5, 5), (19, 19)])
PY
env/bin/python run.py
