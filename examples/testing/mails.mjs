export const refund = {
  from: "sam@example.com",
  subject: "Refund for my invoice",
  text: "The invoice was paid twice. Please send the payment back today.",
};
export const riddle = { from: "alex@example.com", subject: "Hm", text: "?" };
