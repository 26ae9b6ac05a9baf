/**
 * Replaces values of a JSON object's own fields, and changes nothing else, neither numbers nor white space.
 * Every field of a name is meant, in any case: servers read the last of two, and Ollama reads "MODEL" too.
 */
export function replaceValues(json: string, values: Readonly<Record<string, unknown>>): string {
  const known = new Map(Object.entries(values));
  let [replaced, from] = ["", 0];
  for (const { name, start, end } of ownFields(json)) {
    const value = known.get(name.toLowerCase());
    if (value === undefined) continue;
    replaced += json.slice(from, start) + JSON.stringify(value);
    from = end;
  }
  return replaced + json.slice(from);
}

/** Yields the names of a JSON object's own fields, and the places of their values. */
function* ownFields(json: string) {
  let [depth, string, name, start] = [0, "", "", 0];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    const isOwn = depth === 1;
    if (character === '"') {
      const end = endOfString(json, at);
      if (isOwn) string = json.slice(at, end);
      at = end - 1;
    } else if (character === "{" || character === "[") depth += 1;
    else if (isOwn && character === ":") {
      name = JSON.parse(string) as string;
      start = at + 1;
    } else if (isOwn && (character === "," || character === "}")) {
      const value = json.slice(start, at).trim();
      start = json.indexOf(value, start);
      yield { name, start, end: start + value.length };
    }
    if (character === "}" || character === "]") depth -= 1;
  }
}

/** Returns the place after a string: after a quote behind an even number of backslashes. */
function endOfString(json: string, start: number): number {
  let [end, slash] = [start, 0];
  do {
    end = slash = json.indexOf('"', end + 1);
    while (json[slash - 1] === "\\") slash -= 1;
  } while ((end - slash) % 2 === 1);
  return end + 1;
}
