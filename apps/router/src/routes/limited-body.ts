import { bodyLimit } from "hono/body-limit";
import { Refusal } from "./refusal.ts";

/** The largest request body, in bytes: 1 MiB. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Refuses a larger body, whether or not it says its length. */
export const limitedBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw new Refusal(413, `The body is over ${MAX_BODY_BYTES} bytes; send less.`);
  },
});
