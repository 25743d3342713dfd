import encodeQR from 'qr';

/** The width of the empty border that readers need around a code, in modules (ISO/IEC 18004). */
const quietZone = 4;

/** Draws a text as a QR code. The page itself draws the code, so it sends the text nowhere. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: quietZone });
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className="qr-code" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label}>
      <path d={dark.join('')} />
    </svg>
  );
}
