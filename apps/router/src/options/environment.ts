/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables without the space around them; a blank one counts as unset. */
export function trimEnvironment(env: Environment): Environment {
  const entries = Object.entries(env).map(([name, value]) => [name, value?.trim() || undefined]);
  return Object.fromEntries(entries);
}
