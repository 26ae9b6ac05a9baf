import { InvalidRequestError } from "../errors.ts";
import { rejectQuestion } from "./rejections.ts";
import { type ImageFormat, findImageSize } from "./image-size.ts";
import { copyJson, Flaw, isRecord, type JsonObject, type JsonValue, quoteName } from "./json.ts";

/** A JSON value as one part of a state. */
export type JsonPart = {
  readonly json: JsonValue;
};

// Types and not interfaces, so that a state is a JSON value to the compiler too.
/** An image as one part of a state; {@link image} makes it. */
export type ImagePart = {
  /** Its bytes as a `data:` URL in base64, or its `https:` address. */
  readonly image: string;
};

/** One part of a state that holds an image: text, JSON or an image. */
export type StatePart = string | JsonPart | ImagePart;

/** The subject of the questions: text, a JSON object or, on wires that take images, a list of parts. */
export type State = string | JsonObject | readonly StatePart[];

/** The reason in a compiler's message if a state is not JSON. */
export interface NotJson<TWhy extends string> {
  readonly notJson: TWhy;
}

/** The type itself if its values are JSON, interfaces included, else {@link NotJson} with the reason. */
export type Json<TValue> = [TValue] extends [JsonValue | undefined]
  ? TValue
  : TValue extends string | number | boolean | null | undefined
    ? TValue
    : TValue extends bigint
      ? NotJson<"a bigint: send it as text">
      : TValue extends symbol
        ? NotJson<"a symbol">
        : TValue extends (...args: never[]) => unknown
          ? NotJson<"a function, or an object with methods: send its fields">
          : TValue extends
                | Date
                | RegExp
                | Error
                | ReadonlyMap<never, unknown>
                | ReadonlySet<unknown>
            ? NotJson<"an instance of a class: send its text or its fields">
            : TValue extends object
              ? { readonly [TKey in keyof TValue]: Json<TValue[TKey]> }
              : NotJson<"unknown: give it a JSON type">;

/** The type itself if it is text, a JSON object or a list of parts, else {@link NotJson}. */
export type StateOf<TState> = TState extends readonly unknown[]
  ? { readonly [TKey in keyof TState]: PartOf<TState[TKey]> }
  : Json<TState>;

/** The type itself if it can be one part of a state, else {@link NotJson}. */
export type PartOf<TPart> = TPart extends string | { readonly image: string }
  ? TPart
  : TPart extends { readonly json: infer TValue }
    ? { readonly json: Json<TValue> }
    : NotJson<"a list that is not of parts (text, { json } and images): put it under a key of an object">;

/** Which images a wire takes. */
export interface ImageSupport {
  readonly formats: readonly ImageFormat[];
  /** The most bytes of one image. */
  readonly maxBytes: number;
  /** The most images of one request. */
  readonly maxImages: number;
  /** The most tiles of 32 × 32 pixels of one image. @default no limit */
  readonly maxTiles?: number;
  /** Whether it takes `https:` addresses, which the service then reads. */
  readonly takesAddresses: boolean;
  /** Whether questions may ask for a place in an image. @default false */
  readonly findsBoxes?: boolean;
}

/** All formats, as bytes only, within the vendor's limits; no other wire documents its own. */
export const imagesAsBytes: ImageSupport = {
  formats: ["png", "jpeg", "webp", "gif"],
  maxBytes: 16 * 1024 * 1024,
  maxImages: 128,
  takesAddresses: false,
};

/**
 * Makes an image part of a state from bytes, a `data:` URL or an `https:` address. A call is rejected
 * before sending if its wire takes no images or no addresses.
 *
 * @throws {InvalidRequestError} when the bytes are neither PNG, JPEG, WebP nor GIF.
 * @example
 * ```ts
 * const state = ["A photo of the parcel", image(await readFile("parcel.jpg"))];
 * ```
 */
export function image(source: Uint8Array | string | URL): ImagePart {
  // No instanceof: another realm (vm, jest) has its own classes.
  if (typeof source === "string" || "href" in source) return { image: String(source) };
  const binary = toBinary(source);
  const format = imagesAsBytes.formats.find((knownImageFormat) =>
    signatures[knownImageFormat].test(binary),
  );
  if (format !== undefined) return { image: `data:image/${format};base64,${btoa(binary)}` };
  return reject("The bytes are no image: they begin like neither PNG, JPEG, WebP nor GIF");
}

/** The first bytes of each format, with a character for each byte; `\cZ` is the byte 0x1a. */
const signatures = {
  png: /^\x89PNG\r\n\cZ\n/,
  jpeg: /^\xff\xd8\xff/,
  webp: /^RIFF.{4}WEBP/s,
  gif: /^GIF8/,
};

// An image of 8 MiB takes 70 ms; with a spread of 32,768 it takes 800.
const CHUNK = 8192;

/** Returns a text with a character for each byte. */
function toBinary(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK) {
    binary += Reflect.apply(String.fromCharCode, null, bytes.subarray(start, start + CHUNK));
  }
  return binary;
}

/** The format and bytes of an image that is no address. */
export type ImageData = NonNullable<ReturnType<typeof toImageData>>;

/** Returns an image's format and bytes, or null for an address. */
export function toImageData({ image: url }: ImagePart) {
  const [head = "", format] = /^data:image\/(png|jpeg|webp|gif);base64,/.exec(url) ?? [];
  return format === undefined
    ? null
    : { format: format as ImageFormat, base64: url.slice(head.length) };
}

/** Returns whether a part of a state is an image. */
export function isImage(part: unknown): part is ImagePart {
  return isRecord(part) && "image" in part;
}

/** Returns the images of a state; only a list of parts has any. */
export function imagesIn(state: unknown): readonly ImagePart[] {
  return Array.isArray(state) ? state.filter(isImage) : [];
}

/** Returns a copy of a list of parts. Throws unless each is text, JSON or an image that the wire takes. */
export function copyParts(
  parts: readonly unknown[],
  support: ImageSupport | undefined,
): readonly StatePart[] {
  if (support === undefined) {
    reject(
      "The state is a list of parts, which this transport does not take; send text or a JSON object, or use gatewayTransport with the wire decision-model, or directTransport",
    );
  }
  if (parts.length === 0) reject("The state is an empty list; send at least one part");
  const copies = Array.from(parts, (part, index) => copyPart(part, index, support));
  const images = imagesIn(copies).length;
  if (images > support.maxImages) {
    reject(`The state has ${images} images; this wire takes at most ${support.maxImages}`);
  }
  return copies;
}

function reject(message: string): never {
  throw new InvalidRequestError(`${message}.`);
}

function copyPart(part: unknown, index: number, support: ImageSupport): StatePart {
  const copy = copyJson(part);
  const problem = findProblem(copy, support);
  if (problem !== null) reject(`The state at "state.${index}" ${problem}`);
  return copy as StatePart;
}

function findProblem(part: unknown, support: ImageSupport): string | null {
  if (typeof part === "string") return null;
  const isJson = !(part instanceof Flaw);
  if (!isJson && part.path.startsWith(".json"))
    return `has JSON that at ${quoteName(part.path.slice(1))} ${part.what}`;
  if (isJson && isRecord(part) && Object.keys(part).length === 1) {
    if (typeof part["image"] === "string") return imageProblem({ image: part["image"] }, support);
    if (part["json"] !== undefined) return null;
  }
  return "is neither text, { json } nor an image; write image(bytes)";
}

function imageProblem(part: ImagePart, support: ImageSupport): string | null {
  const { formats, maxBytes, takesAddresses } = support;
  const data = toImageData(part);
  if (data === null) {
    if (!URL.canParse(part.image) || new URL(part.image).protocol !== "https:") {
      return "is an image that is neither a data: URL of PNG, JPEG, WebP or GIF in base64 nor an https: address";
    }
    return takesAddresses
      ? null
      : "is the address of an image, which this wire does not take; read the file and send image(bytes)";
  }
  const { format, base64 } = data;
  if (!formats.includes(format)) {
    return `is an image of the format ${format}; this wire takes ${formats.join(" and ")}`;
  }
  const bytes = Math.floor((base64.length * 3) / 4);
  return bytes > maxBytes
    ? `is an image of about ${bytes} bytes; this wire takes at most ${maxBytes}`
    : tilesProblem(data, support);
}

const TILE = 32;

function tilesProblem(data: ImageData, { maxTiles }: ImageSupport): string | null {
  const size = maxTiles === undefined ? null : findImageSize(data);
  if (size === null || maxTiles === undefined) return null;
  const { width, height } = size;
  const tiles = Math.ceil(width / TILE) * Math.ceil(height / TILE);
  if (tiles <= maxTiles) return null;
  return `is an image of ${width} × ${height} pixels, which are ${tiles} tiles of ${TILE} × ${TILE}; this wire takes at most ${maxTiles}`;
}

/** Throws unless a state has an image that a question about one can be asked of. */
export function checkForImage(
  questionId: string,
  state: State,
  images: ImageSupport | undefined,
): void {
  const findsBoxes = images?.findsBoxes === true;
  if (findsBoxes && imagesIn(state).length > 0) return;
  const flaw = findsBoxes
    ? "needs an image in the state; send a list of parts with image(bytes)"
    : 'asks for a place in an image, which this service does not take; use directTransport({ service: "typesafe" })';
  rejectQuestion(questionId, flaw);
}

/** Returns a state without the bytes of its images, so that it can be read as text. */
export function withoutImageBytes(state: unknown): unknown {
  if (!Array.isArray(state)) return state;
  return state.map((part) => (isImage(part) && toImageData(part) !== null ? "" : part));
}

// Made on first use: it reads tables for 15 ms, a tenth of the import of this package.
let graphemes: Intl.Segmenter | undefined;
// Chosen: four times the longest emoji, which has 15 code units.
const LONGEST_CHARACTER = 64;

/**
 * Cuts text to at most `maxCharacters` UTF-16 code units, without splitting a visible character. Use
 * it for text that may be longer than the model's limit (contract section 8).
 *
 * @example
 * ```ts
 * const state = { user_message: cutText(message, 20_000) };
 * ```
 */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const start = graphemes.segment(text).containing(maxCharacters)?.index ?? 0;
  if (maxCharacters - start <= LONGEST_CHARACTER) return text.slice(0, start);
  // Many combining marks can make one character of any length, so this keeps only pairs whole.
  const splitsPair = (text.codePointAt(maxCharacters - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? maxCharacters - 1 : maxCharacters);
}
