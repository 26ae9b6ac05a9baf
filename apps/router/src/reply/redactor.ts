// The client drops a server's words that repeat a secret; the router has to pass them on without it.

/** Replaces every secret in a text. */
export type Redact = ReturnType<typeof redactor>;

/** Shorter values are not secret, since they may be a part of any word. Chosen. */
const SHORTEST_SECRET = 8;
const MARK = "[secret]";

/** Creates a function that replaces the given secrets of at least 8 characters. */
export function redactor(values: readonly string[]) {
  let compiledSecrets = compile(values);
  const redact = (text: string) => text.replace(compiledSecrets.pattern, MARK);
  return Object.assign(redact, {
    /** Adds secrets, for texts from now on. */
    learn: (more: readonly string[]) =>
      void (compiledSecrets = compile([...compiledSecrets.secrets, ...more])),
    /**
     * Also replaces 8 or more characters of a key in a row, for errors: services print half of a wrong
     * key. A reply keeps them: its prose may share a word with a key.
     */
    strictly: (text: string) => withoutRuns(redact(text), compiledSecrets.runs),
    /** Redacts one text in pieces; a possible start of a secret is held back until the next piece. */
    inPieces() {
      const { secrets, pattern } = compiledSecrets;
      let heldText = "";
      return {
        /** Returns the text that is clear after this piece. */
        add(piece: string): string {
          const text = heldText + piece;
          let [clear, from] = ["", 0];
          for (;;) {
            const beginning = beginOfSecret(text, from, secrets);
            pattern.lastIndex = from;
            const foundMatch = pattern.exec(text);
            if (foundMatch === null || beginning <= foundMatch.index) {
              heldText = text.slice(beginning);
              return clear + text.slice(from, beginning);
            }
            clear += text.slice(from, foundMatch.index) + MARK;
            from = pattern.lastIndex;
          }
        },
        end: () => redact(heldText),
      };
    },
  });
}

function compile(values: readonly string[]) {
  const secrets = [...new Set(values)]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length); // the longest of several at one place
  const escapedSecrets = secrets.map((secret) =>
    secret.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"),
  );
  const pattern = new RegExp(escapedSecrets.join("|") || "(?!)", "g");
  // Part of an address, such as "localhost", is not secret; its password is a secret itself.
  return { secrets, pattern, runs: listRuns(secrets.filter((each) => !each.includes("://"))) };
}

/** Every part of a secret with the shortest secret's length. */
function listRuns(secrets: readonly string[]): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const secret of secrets) {
    for (let at = 0; at + SHORTEST_SECRET <= secret.length; at += 1) {
      runs.add(secret.slice(at, at + SHORTEST_SECRET));
    }
  }
  return runs;
}

/** Runs that overlap become one mark. */
function withoutRuns(text: string, runs: ReadonlySet<string>): string {
  let clear = "";
  let from = 0; // the end of the last run
  for (let at = 0; at + SHORTEST_SECRET <= text.length; at += 1) {
    if (!runs.has(text.slice(at, at + SHORTEST_SECRET))) continue;
    if (at > from || from === 0) clear += text.slice(from, at) + MARK;
    from = at + SHORTEST_SECRET;
  }
  return clear + text.slice(from);
}

/** Returns the start of a secret that is cut off at the end of the text, or the text's length. */
function beginOfSecret(text: string, from: number, secrets: readonly string[]): number {
  let beginning = text.length;
  for (const secret of secrets) {
    let at = Math.max(from, text.length - secret.length + 1);
    while ((at = text.indexOf(secret.charAt(0), at)) !== -1 && at < beginning) {
      if (secret.startsWith(text.slice(at))) beginning = at;
      at += 1;
    }
  }
  return beginning;
}
