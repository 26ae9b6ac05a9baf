import { http, type HttpHandler, HttpResponse } from "msw";
import type { FetchEmulator } from "./fetch-emulator.ts";
import { servicePaths } from "./services/services.ts";

/** Which hosts the handlers stand for. */
export interface EmulatorHandlersOptions {
  /** The gateway's origin. @default any */
  readonly gatewayOrigin?: string;
  /** The vendor's origin; named, its model list is played too. @default any */
  readonly directOrigin?: string;
}

const gatewayPaths = [
  "/v4/ai/*",
  "/v1/models",
  "/v1/models/:creator/:model/endpoints",
  "/v1/credits",
  "/v1/generation",
  "/v1/report",
];

/**
 * Returns handlers for msw that answer as the emulator does, so that a test needs no port.
 * A broken connection becomes msw's network error.
 *
 * @example
 * ```ts
 * const server = setupServer(...emulatorHandlers(createEmulator()));
 * ```
 */
export function emulatorHandlers(
  emulator: Pick<FetchEmulator, "fetch">,
  { gatewayOrigin = "*", directOrigin = "*" }: EmulatorHandlersOptions = {},
): HttpHandler[] {
  const vendorPaths = directOrigin === "*" ? ["/v1/systemone"] : ["/v1/systemone", "/v1/models"];
  return [
    ...vendorPaths.map((routePath) =>
      handlerFor(`${directOrigin}${routePath}`, `/direct${routePath}`, emulator),
    ),
    ...gatewayPaths.map((routePath) => handlerFor(`${gatewayOrigin}${routePath}`, null, emulator)),
    ...servicePaths.map((routePath) => handlerFor(`*${routePath}`, null, emulator)),
  ];
}

/** @param path - The emulator's path; null if it is the request's. */
function handlerFor(
  pattern: string,
  routePath: string | null,
  emulator: Pick<FetchEmulator, "fetch">,
): HttpHandler {
  return http.all(pattern, async ({ request }) => {
    const input =
      routePath === null ? request : new Request(new URL(routePath, request.url), request);
    try {
      return await emulator.fetch(input);
    } catch (error) {
      if (error instanceof TypeError) return HttpResponse.error();
      throw error;
    }
  });
}
