import { reveal } from "./elements.ts";
import { renderMarkdown } from "./render-markdown.ts";

/** A reply that grows. */
export interface ReplyView {
  readonly add: (delta: string) => void;
  /** Returns what has come so far. */
  readonly text: () => string;
  /** Draws what has come so far, now. */
  readonly finish: () => void;
}

/** Shows a reply in a card as it comes, drawn at most once a frame. */
export function createReplyView(card: HTMLElement): ReplyView {
  let text = "";
  let frame: number | null = null;
  const draw = () => {
    frame = null;
    if (text !== "") reveal(card, ".reply").replaceChildren(renderMarkdown(text));
  };
  return {
    add(delta) {
      text += delta;
      frame ??= requestAnimationFrame(draw);
    },
    text: () => text,
    finish() {
      if (frame !== null) cancelAnimationFrame(frame);
      draw();
    },
  };
}
