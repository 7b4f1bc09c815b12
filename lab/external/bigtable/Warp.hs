{-# LANGUAGE OverloadedStrings #-}
-- | The page of the suite bigtable by warp: PORT.
module Main (main) where

import Data.ByteString.Builder (Builder, intDec)
import Network.HTTP.Types (status200)
import Network.Wai (responseBuilder)
import Network.Wai.Handler.Warp (defaultSettings, runSettings, setHost, setPort)
import System.Environment (getArgs)

main :: IO ()
main = do
    [port] <- getArgs
    runSettings (setHost "127.0.0.1" (setPort (read port) defaultSettings)) $ \_ answer ->
        answer (responseBuilder status200 [("Content-Type", "text/html")] page)

page :: Builder
page = "<table>" <> mconcat (replicate 1000 row) <> "</table>"

row :: Builder
row = "<tr>" <> mconcat ["<td>" <> intDec column <> "</td>" | column <- [1 .. 50]] <> "</tr>"
{-# NOINLINE row #-}
