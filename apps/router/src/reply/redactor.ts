// The client drops a server's words that repeat a secret; the router has to pass them on without it.

/** Replaces every secret in a text. */
export type Redact = ReturnType<typeof redactor>;

/** Shorter values are not secret, since they may be a part of any word. Chosen. */
const SHORTEST_SECRET = 8;
const MARK = "[secret]";

/** Creates a function that replaces the given secrets of at least 8 characters. */
export function redactor(secretValues: readonly string[]) {
  let compiledSecrets = compile(secretValues);
  const redact = (givenText: string) => givenText.replace(compiledSecrets.pattern, MARK);
  return Object.assign(redact, {
    /** Adds secrets, for texts from now on. */
    learn: (moreSecrets: readonly string[]) =>
      void (compiledSecrets = compile([...compiledSecrets.secrets, ...moreSecrets])),
    /**
     * Also replaces 8 or more characters of a key in a row, for errors: services print half of a wrong
     * key. A reply keeps them: its prose may share a word with a key.
     */
    strictly: (givenText: string) => withoutRuns(redact(givenText), compiledSecrets.runs),
    /** Redacts one text in pieces; a possible start of a secret is held back until the next piece. */
    inPieces() {
      const { secrets, pattern } = compiledSecrets;
      let heldText = "";
      return {
        /** Returns the text that is clear after this piece. */
        add(textPiece: string): string {
          const joinedText = heldText + textPiece;
          let [clearText, nextIndex] = ["", 0];
          for (;;) {
            const secretStart = beginOfSecret(joinedText, nextIndex, secrets);
            pattern.lastIndex = nextIndex;
            const foundMatch = pattern.exec(joinedText);
            if (foundMatch === null || secretStart <= foundMatch.index) {
              heldText = joinedText.slice(secretStart);
              return clearText + joinedText.slice(nextIndex, secretStart);
            }
            clearText += joinedText.slice(nextIndex, foundMatch.index) + MARK;
            nextIndex = pattern.lastIndex;
          }
        },
        end: () => redact(heldText),
      };
    },
  });
}

function compile(secretValues: readonly string[]) {
  const secrets = [...new Set(secretValues)]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((firstSecret, secondSecret) => secondSecret.length - firstSecret.length); // the longest of several at one place
  const escapedSecrets = secrets.map((plainSecret) =>
    plainSecret.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"),
  );
  const pattern = new RegExp(escapedSecrets.join("|") || "(?!)", "g");
  // Part of an address, such as "localhost", is not secret; its password is a secret itself.
  return { secrets, pattern, runs: listRuns(secrets.filter((secret) => !secret.includes("://"))) };
}

/** Every part of a secret with the shortest secret's length. */
function listRuns(secrets: readonly string[]): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const secret of secrets) {
    for (let runStart = 0; runStart + SHORTEST_SECRET <= secret.length; runStart += 1) {
      runs.add(secret.slice(runStart, runStart + SHORTEST_SECRET));
    }
  }
  return runs;
}

/** Runs that overlap become one mark. */
function withoutRuns(givenText: string, secretRuns: ReadonlySet<string>): string {
  let clearText = "";
  let lastRunEnd = 0; // the end of the last run
  for (let at = 0; at + SHORTEST_SECRET <= givenText.length; at += 1) {
    if (!secretRuns.has(givenText.slice(at, at + SHORTEST_SECRET))) continue;
    if (at > lastRunEnd || lastRunEnd === 0) clearText += givenText.slice(lastRunEnd, at) + MARK;
    lastRunEnd = at + SHORTEST_SECRET;
  }
  return clearText + givenText.slice(lastRunEnd);
}

/** Returns the start of a secret that is cut off at the end of the text, or the text's length. */
function beginOfSecret(givenText: string, fromIndex: number, secrets: readonly string[]): number {
  let secretStart = givenText.length;
  for (const secret of secrets) {
    let at = Math.max(fromIndex, givenText.length - secret.length + 1);
    while ((at = givenText.indexOf(secret.charAt(0), at)) !== -1 && at < secretStart) {
      if (secret.startsWith(givenText.slice(at))) secretStart = at;
      at += 1;
    }
  }
  return secretStart;
}
