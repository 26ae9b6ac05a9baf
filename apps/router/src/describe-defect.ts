/** Says where an unexpected error came from, without its message, which may quote a person's text. */
export function describeDefect({ name, stack = "" }: Error): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return [`The router failed with an unexpected ${name}`, ...frames, ""].join("\n");
}
