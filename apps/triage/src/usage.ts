/** How the command is typed, as `--help` shows it. */
export const usage = `Usage: npm run triage -- [run] FILE [options]
       npm run triage -- work [FILE] [--run N] [--wait] [--concurrency N] [--offline]
       npm run triage -- status [FILE] [--run N]
       npm run triage -- export [FILE] [--run N] [--format F] [--calibration F] [--rules FILE]
       npm run triage -- query ["select ..."] [FILE] [--run N] [--format F] [--timeout SECONDS]
                               [--rows N] [--allow-superuser]
       npm run triage -- questions check FILE | questions schema
       npm run triage -- import SOURCE OUT.json [--sent-label NAME] [--skipped FILE]
       npm run triage -- report [FILE] [--run N] [--calibration F] [--rules FILE]
       npm run triage -- explain ID [FILE] [--run N]
       npm run triage -- label FILE [--question ID] [--count N] [--labels FILE] [--port N]

  FILE             a JSON array of { id, date, from, subject, snippet }, { "mails": [...] } or one
                   record a line; in UTF-8 or UTF-16, under any name (.json, .ndjson, .jsonl); - reads
                   it from standard input
  --limit N        only the first N records
  --raw            print the answers and providerMetadata of each call before the table
  --skip-invalid   leave out records that are wrong, and name them, instead of ending the run
  --offline        let the emulator on this machine answer; needs no key. Without it the engine
                   is what .env names: the gateway, the vendor's own API or a server of its form,
                   or a chat model that gives log-probabilities, such as Ollama's
  --concurrency N  ask N at once; 1 when not given
  --journal J      where the answers are kept: the URL of a PostgreSQL database, which any number of
                   machines share, or a file FILE.triage.sqlite. TRIAGE_JOURNAL says it as well, and
                   shows it to nobody who lists processes. Without both: a file beside FILE
  --rate N         the requests a minute that the key allows, for all machines together
  --dry-run        say what a run would take, and send no mail; needs no key
  --max-cost USD   end before the run costs more; estimates take the gateway's listed price, or
                   the documented one when there is no list, and say which
  --price USD      what a million input tokens cost, for an engine that no list has
  --yes            do not ask before a run above $1
  --context        add age_days, repeat_count, known_contact, today and sent_by_user to what the
                   model reads
  --today DAY      count ages to that day; today when not given, and then another day asks again
  --contacts FILE  known addresses: one a line, a CSV or a vCard; your own: TRIAGE_USER_ADDRESSES
  --state-fields L let the model also read attachments (names and types), list_id or
                   authentication_results, with commas between, of mails that have them; --dry-run
                   says what each costs
  --questions FILE ask these instead: a JSON object of question id to question; "questions check"
                   says what is wrong with one and where, "questions schema" prints the JSON schema
                   that an editor completes one with
  --calibration F  recalibrate the results with what "evaluator calibrate" wrote; values as they
                   were printed go beside them (scamPrinted)
  --format F       write json, ndjson or csv: every record, in the order of FILE
  --sort FIELD     sort the table by a field of the results; importance when not given. The date is
                   then the day the mail was received
  --top N          print only the first N rows of the table; the file keeps them all
  --since DATE     in the table, the report and an export only mails received on that day or later
  --only "..."     likewise only mails that meet conditions: "category = receipt, importance >= 3",
                   "scam < 0.5", "category.receipt > 0.9", "new" (since the run before)
  --rules FILE     what would be done, one rule a line: scam >= 0.9 -> junk. The first that fits
                   takes a mail; report shows it, export writes ids and actions, and nothing is done
  --run N          the run of a database; all or the newest when not given
  --wait           wait for runs that are still to come, and for a database that is away
  --help           print this

  SOURCE           an export of mail: an mbox, a folder of mail files (.eml, .emlx, Maildir, Apple
                   Mail, mailboxes of Thunderbird, mixed), one mail, the .zip or .tgz of Google
                   Takeout, or a dump of the Gmail API; mailboxes also with gzip
  --sent-label N   mails labelled with N alone were sent, not received, and are left out; the names
                   of Gmail in some thirty languages are known (Sent, Gesendet, Enviados, ...)
  --skipped FILE   name all that was not read, and why, one a line
  work             answer what a run lacks, as it was begun: on another machine, or here once it ended
  status           print what runs have come to: how far, how fast, at what cost, who works; in a
                   terminal until they are over
  export           print the results of a run so far, in the order of its FILE
  query            print what a query comes to, of the tables mails, answers and runs: one column an
                   answer; without a query what they hold. On a terminal a table, else CSV; --format
                   table, json, ndjson or csv. It only reads: in SQLite, or in PostgreSQL for a run there.
                   It ends after --timeout SECONDS (60) and after --rows N (1,000,000); a role that can
                   do more than read is refused without --allow-superuser
  report           make one page from the newest run of FILE (.triage.html): a list to act on, then
                   plots; without FILE print the one about a journal's results
  explain          print what was sent, asked and answered about one mail
                   Without FILE and --journal these six take the one journal in the folder
  label            serve a page on this machine that shows N drawn mails (40) without the answers
                   and saves what you say of each, by one key, for "evaluator calibrate"
                   (.labels.ndjson); --labeler NAME says who you are, --seed N draws others

The results go beside FILE, with .triage.json in place of .json; those of - are stdin.triage.json in
the current folder. Every answer is kept in a journal
beside them (.triage.sqlite): the same command again asks only for what is missing. With a journal
in PostgreSQL the same command on another machine joins the run.

Exit codes: 0 all fine, 1 wrong words or nothing written, 2 some records failed, 130 interrupted,
143 ended by the system.
`;
