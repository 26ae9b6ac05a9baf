/** HTML in which all outside text is escaped. This file also runs in browsers. */
export class Html {
  readonly #text: string;

  constructor(markup: string) {
    this.#text = markup;
  }

  toString(): string {
    return this.#text;
  }
}

/** A value in a template: text and numbers are escaped, HTML is not, null is empty. */
export type HtmlValue = Html | string | number | null | readonly HtmlValue[];

const escapedCharacters: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns a piece of HTML, as a template tag. */
export function html(templateStrings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(String.raw({ raw: templateStrings }, ...values.map(toText)));
}

/** Returns trusted text, such as a style sheet, as HTML. */
export function trusted(trustedText: string): Html {
  return new Html(trustedText);
}

function toText(value: HtmlValue): string {
  if (value === null) return "";
  if (typeof value === "object") {
    // Not by its class: each published package has its own copy of it.
    return "map" in value ? value.map(toText).join("") : value.toString();
  }
  // Control characters and bidi marks could make text look like something else.
  const printableText = String(value).replace(/(?!\n|\u200c|\u200d)[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
  return printableText.replace(/[&<>"']/g, (character) => escapedCharacters[character] ?? "");
}
