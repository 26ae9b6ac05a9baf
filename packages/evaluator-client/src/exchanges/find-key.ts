/** Returns whether a header, by its lower-case name, may carry a key, a password or a session. */
export function isSecretHeader(name: string): boolean {
  // Not "tokens", which are counts, as in x-ratelimit-remaining-tokens.
  const isSecret = /auth|cookie|key|token(?!s)|secret|passw|pwd|credential|session/.test(name);
  return isSecret && name !== "ai-gateway-auth-method";
}

/** An unchecked reply of a service. */
export interface LiveReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Returns the first finding of a key in a reply, such as "its header x-debug holds the key in base64", or
 * null. All headers are searched.
 *
 * @param publicText - Words that are no secret, such as the request's; parts of a key in them do not count.
 */
export function findLeak(
  reply: LiveReply,
  { keys, publicText }: { keys: readonly string[]; publicText: string },
): string | null {
  const parts = [...reply.headers].flatMap(([name, value]) => [
    { where: "the name of a header", text: name },
    { where: `its header ${name}`, text: value },
  ]);
  for (const { where, text } of [...parts, { where: "its body", text: reply.text }]) {
    const found = findKey(text, keys, publicText);
    if (found !== null) return `${where} holds ${found}`;
  }
  return null;
}

const escapes = /\\+(?:u([0-9a-f]{4})|(["/\\]))|%([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#(\d{1,7});/gi;

/**
 * Returns how a text holds one of the keys, such as "a part of the key in base64", or null. A part is a run
 * of 8 bytes or more; letter case and JSON, URL and HTML escapes do not hide it. A key of fewer than 8
 * characters counts only as a whole word.
 */
export function findKey(text: string, keys: readonly string[], publicText = ""): string | null {
  const readings = readingsOf(text);
  const known = publicText.toLowerCase();
  const found = keys.map((key) =>
    key.length < 8
      ? findWord(key.toLowerCase(), readings, known)
      : findSpelling(key, readings, known),
  );
  return found.find((how) => how !== null) ?? null;
}

function findWord(word: string, readings: readonly string[], known: string): string | null {
  const isHeld = readings.some((reading) => reading.split(/[^\w-]+/).includes(word));
  return isHeld && !known.includes(word) ? "the key verbatim" : null;
}

function findSpelling(key: string, readings: readonly string[], known: string): string | null {
  const isHeld = (piece: string) => readings.some((reading) => reading.includes(piece));
  for (const { manner, spelling, partLength } of keySpellings(key)) {
    const whole = spelling.toLowerCase();
    if (isHeld(whole)) return `the key ${manner}`;
    for (let start = 0; start + partLength <= whole.length; start += 1) {
      const part = whole.slice(start, start + partLength);
      // The text is mostly a short header and the public text is long, so this order is cheaper.
      if (isHeld(part) && !known.includes(part)) return `a part of the key ${manner}`;
    }
  }
  return null;
}

/** Returns the text in lower case, unchanged and with its escapes undone once and twice. */
function readingsOf(text: string): string[] {
  const once = undoEscapes(text);
  const readings = [text, once, undoEscapes(once)].map((reading) => reading.toLowerCase());
  return [...new Set(readings)]; // mostly one
}

function undoEscapes(text: string): string {
  return text.replace(escapes, (match, ...groups: (string | undefined)[]) => {
    const [unicode, itself, percent, hex, decimal] = groups;
    if (itself !== undefined) return itself;
    const digits = unicode ?? percent ?? hex;
    const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : match;
  });
}

/** Returns the spellings that a log, a dump or an echo may use; `partLength` characters reveal 8 bytes. */
function keySpellings(key: string) {
  const bytes = Buffer.from(key);
  const inBase64 = (["base64", "base64url"] as const).flatMap((encoding) =>
    [0, 1, 2].map((offset) => base64Inside(key, offset, encoding)),
  );
  return [
    { manner: "verbatim", spelling: key, partLength: 8 },
    { manner: "backwards", spelling: Buffer.from(bytes.toReversed()).toString(), partLength: 8 },
    { manner: "in hexadecimal", spelling: bytes.toString("hex"), partLength: 16 },
    ...inBase64.map((spelling) => ({ manner: "in base64", spelling, partLength: 12 })),
  ];
}

/** Returns the base64 characters that depend only on the key if it follows 0, 1 or 2 other bytes. */
function base64Inside(key: string, offset: number, encoding: "base64" | "base64url"): string {
  const bytes = Buffer.from("\0".repeat(offset) + key);
  const first = Math.ceil((offset * 8) / 6);
  return bytes.toString(encoding).slice(first, Math.floor((bytes.length * 8) / 6));
}
