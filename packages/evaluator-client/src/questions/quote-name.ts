const MAX_LENGTH = 60;

/** An id or option name in quotes for a message, shortened, with nothing that breaks the line. */
export function quoteName(name: string): string {
  const whole = JSON.stringify(name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}…` : name);
  return whole.replace(/\p{Cf}/gu, "");
}
