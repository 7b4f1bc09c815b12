{-# LANGUAGE OverloadedStrings #-}
-- | The page of the suite bigtable as a CGI program in Haskell: bytestring's builder, as blaze-html uses it.
module Main (main) where

import Data.ByteString.Builder (Builder, hPutBuilder, intDec)
import System.IO (stdout)

main :: IO ()
main = hPutBuilder stdout ("Content-Type: text/html\r\n\r\n<table>" <> mconcat (replicate 1000 row) <> "</table>")

row :: Builder
row = "<tr>" <> mconcat ["<td>" <> intDec column <> "</td>" | column <- [1 .. 50]] <> "</tr>"
{-# NOINLINE row #-}
