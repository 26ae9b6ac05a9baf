#!/usr/bin/env bash
# Guess: PostalMime, which mailparser's README recommends in its place, gives an HTML mail the `text` that mailparser gives it.
# What happens: mailparser's `text` puts nothing between the cells of a table, so of two lamps at 50.00 it makes
# "Lamp250.00", and a model (or a rule) that reads the mail sees a price of 250. PostalMime, by the same authors, gives
# HTML mails no `text` at all: a triage that moves to it asks about an empty mail. It can convert HTML, and puts cells
# apart; it does so only if the mail has a plain part somewhere, such as the footer of a mailing list.
# Source: npm mailparser 3.14.2 (mail-parser.js, htmlToText without options for tables), postal-mime 4.0.0 (postal-mime.ts), both
# the newest; seen 2026-11-29.
# Output seen:
#   HTML alone     mailparser "Lamp250.00"              postal-mime undefined
#   and a footer   mailparser "Lamp250.00 list footer"  postal-mime "Lamp 2 50.00 list footer"
set -euo pipefail
cd "$(mktemp -d)"
npm init -y > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0
cat > run.mjs <<'JS'
import { simpleParser } from "mailparser";
import PostalMime from "postal-mime";

const html = [
  "Content-Type: text/html",
  "",
  "<table><tr><td>Lamp</td><td>2</td><td>50.00</td></tr></table>",
];
const footer = ["Content-Type: text/plain", "", "list footer"];
const parts = ["Content-Type: multipart/mixed; boundary=b", "", "--b", ...html, "--b", ...footer, "--b--"];
const mails = { "HTML alone   ": html, "and a footer ": parts };

const shown = (text) => (text === undefined ? "undefined" : JSON.stringify(text.trim().replace(/\s+/g, " ")));
const seen = [];
for (const [name, lines] of Object.entries(mails)) {
  const mail = ["From: shop@example.com", "Subject: Order", "MIME-Version: 1.0", ...lines, ""].join("\r\n");
  const texts = [(await simpleParser(mail)).text, (await PostalMime.parse(mail)).text].map(shown);
  console.log(`${name}  mailparser ${texts[0].padEnd(25)} postal-mime ${texts[1]}`);
  seen.push(...texts);
}
const expected = ['"Lamp250.00"', "undefined", '"Lamp250.00 list footer"', '"Lamp 2 50.00 list footer"'];
if (JSON.stringify(seen) !== JSON.stringify(expected)) process.exit(1);
JS
node run.mjs
