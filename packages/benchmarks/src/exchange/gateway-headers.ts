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
