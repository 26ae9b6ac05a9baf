const loopbackPattern = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether a host name, without a port, means this machine only. */
export function isLoopbackHost(host: string): boolean {
  return loopbackPattern.test(host);
}

/**
 * Refuses requests that came under a foreign name, as DNS rebinding would send them;
 * everything else goes on to the handler.
 */
export function loopbackOnly(handle: (request: Request) => Response | Promise<Response>) {
  return (request: Request): Response | Promise<Response> => {
    if (isLoopbackHost(new URL(request.url).hostname)) return handle(request);
    const message = "The emulator answers to loopback names only, such as 127.0.0.1 or localhost.";
    return Response.json({ error: { message, type: "forbidden" } }, { status: 403 });
  };
}
