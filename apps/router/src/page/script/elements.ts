/** Returns the element of the page with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no #${id}.`);
  return element;
}

/** Returns the part of an element that a selector names. */
export function partOf(element: ParentNode, selector: string): HTMLElement {
  const part = element.querySelector<HTMLElement>(selector);
  if (part === null) throw new Error(`The element has no ${selector}.`);
  return part;
}

/** Returns a new copy of the one element in a template. */
export function copyOf(id: string): HTMLElement {
  const { content } = byId(id) as HTMLTemplateElement;
  return partOf(content, "*").cloneNode(true) as HTMLElement;
}

/** Shows a part that was hidden, and returns it. */
export function reveal(element: ParentNode, selector: string): HTMLElement {
  const part = partOf(element, selector);
  part.hidden = false;
  return part;
}

/** Has a screen reader say a text. */
export function announce(text: string): void {
  byId("status").textContent = text;
}

/** Copies a text when a button is pressed, and says so on it for a moment. */
export function copyOnClick(button: HTMLElement, text: () => string): void {
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(text()).then(
      () => announceCopy(button, "copied"),
      () => announceCopy(button, "failed"),
    );
  });
}

function announceCopy(button: HTMLElement, state: "copied" | "failed"): void {
  button.dataset["state"] = state;
  announce(state === "copied" ? "Copied" : "The browser refused to copy");
  setTimeout(() => delete button.dataset["state"], 2000);
}
