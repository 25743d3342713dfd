import type { Locator } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import sharp from 'sharp';

/** Reads the QR code in a picture on a page, as a phone's camera would. */
export async function readQrCode(picture: Locator): Promise<string> {
  const pixels = sharp(await picture.screenshot())
    .ensureAlpha()
    .raw();
  const { data, info } = await pixels.toBuffer({ resolveWithObject: true });
  return decodeQR({ width: info.width, height: info.height, data });
}
