/** How the command is typed, as `--help` and every usage error show it. */
export const usage = `Usage: npm run triage -- FILE [--limit N] [--raw] [--offline]

  FILE       a JSON array of { id, date, from, subject, snippet }; its name ends in .json
  --limit N  only the first N records
  --raw      print the answers and providerMetadata of each call before the table
  --offline  let the emulator on this machine answer; needs no key
  --help     print this

The results go beside FILE, with .triage.json in place of .json.
`;
