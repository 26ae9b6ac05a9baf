import { InvalidRequestError } from "../errors.ts";
import { quoteName } from "../questions/quote-name.ts";
import { catalogPaths } from "./catalog-wire.ts";

/**
 * The path of a model's endpoints (contract section 4.3).
 *
 * @throws InvalidRequestError when the id is not two path segments.
 */
export function endpointsPath(modelId: string): string {
  const segments = modelId.split("/");
  const [creator = "", model = ""] = segments.filter(isSegment).map(encodeURIComponent);
  if (segments.length === 2 && creator !== "" && model !== "") {
    return catalogPaths.endpoints(creator, model);
  }
  const message = `The model id ${quoteName(modelId)} is not of the form creator/model; listModels gives the ids.`;
  throw new InvalidRequestError(message);
}

/** A URL drops the segments `.` and `..`, and has no lone surrogates. */
function isSegment(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== ".." && segment.isWellFormed();
}
