-- | The page of the suite bigtable as a CGI program in Haskell by the package cgi.
module Main (main) where

import Data.ByteString.Builder (Builder, intDec, string7, toLazyByteString)
import Network.CGI (outputFPS, runCGI, setHeader)

main :: IO ()
main = runCGI (setHeader "Content-Type" "text/html" >> outputFPS (toLazyByteString page))

page :: Builder
page = string7 "<table>" <> mconcat (replicate 1000 row) <> string7 "</table>"

row :: Builder
row = string7 "<tr>" <> mconcat (map cell [1 .. 50]) <> string7 "</tr>"
  where
    cell column = string7 "<td>" <> intDec column <> string7 "</td>"
{-# NOINLINE row #-}
