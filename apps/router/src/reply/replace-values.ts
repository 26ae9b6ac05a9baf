/**
 * Replaces values of a JSON object's own fields, and changes nothing else, neither numbers nor white space.
 * Every field of a name is meant, in any case: servers read the last of two, and Ollama reads "MODEL" too.
 */
export function replaceValues(json: string, newValues: Readonly<Record<string, unknown>>): string {
  const valuesByName = new Map(Object.entries(newValues));
  let [replacedText, from, start, nesting, string, field] = ["", 0, 0, 0, "", ""];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') {
      stringEnd.lastIndex = at + 1;
      stringEnd.test(json);
      string = json.slice(at, stringEnd.lastIndex);
      at = stringEnd.lastIndex - 1;
    }
    if (nesting === 1 && character === ":") [field, start] = [JSON.parse(string) as string, at + 1];
    const isEnd = nesting === 1 && (character === "," || character === "}");
    const value = isEnd ? valuesByName.get(field.toLowerCase()) : undefined;
    if (value !== undefined) {
      const givenText = json.slice(start, at);
      replacedText +=
        json.slice(from, start) + givenText.replace(givenText.trim(), () => JSON.stringify(value));
      from = at;
    }
    if (character === "{" || character === "[") nesting += 1;
    if (character === "}" || character === "]") nesting -= 1;
  }
  return replacedText + json.slice(from);
}

/** The end of a string: a quote behind an even number of backslashes. */
const stringEnd = /(?<!\\)(?:\\\\)*"/g;
