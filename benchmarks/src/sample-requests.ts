// The apps send these requests, and the canned server answers them as these exchanges do.

/** The exchange with the triage's questions about a mail, and the one with the router's about a message. */
export const sampleExchanges = {
  mail: "consent-alert-first-of-thread",
  message: "greeting-routes-to-nano",
} as const;

/**
 * Returns the state of one triage call (contract section 4.7): the mail with this number. No two are
 * equal, so nothing can be serialised once for all.
 */
export function mailState(index: number) {
  return {
    from: `Cloudlark Accounts <no-reply-${index}@accounts.cloudlark.example>`,
    subject: `Security alert ${index}: an app was given access to your account`,
    date: "2026-03-02",
    snippet: `Calendar Bridge ${index} was given access to your Cloudlark account. If you did not allow this, your account may be at risk: check the activity and remove the access now. You received this message to let you know about important changes to your account.`,
  };
}

/** The text that every reply of the canned text model consists of. */
export const replyText = "Hello! How can I help you today?";

/** The key that every target sends; the canned server takes any. */
export const apiKey = "benchmark-key";

/** The six headers of contract section 4.1, as one writes them by hand. */
export const gatewayHeaders = {
  Authorization: `Bearer ${apiKey}`,
  "ai-model-id": "typesafe-ai/jev",
  "ai-evaluation-model-specification-version": "4",
  "ai-gateway-protocol-version": "0.0.1",
  "ai-gateway-auth-method": "api-key",
  "Content-Type": "application/json",
};

/** Loads undici and returns a function that posts JSON and returns the reply's, without checks. */
export async function openPost() {
  const { request } = await import("undici");
  return async (url: string, given: Record<string, string>, sent: object): Promise<unknown> => {
    const options = { method: "POST", headers: given, body: JSON.stringify(sent) } as const;
    const { statusCode, body } = await request(url, options);
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`Status ${statusCode}: ${text}`);
    return JSON.parse(text);
  };
}
