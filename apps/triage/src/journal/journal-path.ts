/** Gives the path of the journal of an input: `.triage.sqlite` in place of `.json`. */
export function toJournalPath(inputPath: string): string {
  return inputPath.replace(/\.json$/, ".triage.sqlite");
}
