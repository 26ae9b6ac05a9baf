/** The names of the contract's fields of `POST /chat`, in its order (section 4.6). */
export const nineFields = [
  "tier",
  "model",
  "probabilities",
  "confidence",
  "jevMs",
  "replyMs",
  "reply",
  "replyError",
  "usage",
];

/** The names of the fields that end an event stream. */
export const outcomeFields = nineFields.filter((name) => name !== "reply");
