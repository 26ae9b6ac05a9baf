import type { Element } from "../mail-item.ts";

/** Makes an element of the page; what a mail says becomes text, and nothing else. */
export function toDom({ tag, attributes, children }: Element): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map((child) => (typeof child === "string" ? child : toDom(child))));
  return made;
}
